#include "process/identity.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>

#include <algorithm>

namespace mlbcc::process {
namespace {

using testing::Contains;
using testing::ElementsAre;
using Texts = std::vector<std::string>;

const Caller kRoot{0, {"HOME=/root", "USER=root", "A=1"}, {}};
const Caller kPerson{1234, {"HOME=/home/me", "SUDO_UID=7", "SUDO_GID=7"}, {}};

Caller under_sudo(const std::string& uid, const std::string& gid) {
    return {0, {"HOME=/root", "USER=root", "SUDO_UID=" + uid, "SUDO_GID=" + gid}};
}

std::string error_of(const Result<std::optional<Identity>>& result) {
    return result ? "none" : result.error().message();
}

TEST(ChooseIdentity, IsTheCallersWithoutSudoAndUser) {
    EXPECT_EQ(choose_identity(kRoot, std::nullopt, false).value(), std::nullopt);
    EXPECT_EQ(choose_identity(kPerson, std::nullopt, false).value(), std::nullopt);
}

TEST(ChooseIdentity, IsTheNamedUsers) {
    const auto found = choose_identity(kRoot, "nobody", false);
    ASSERT_TRUE(found);
    ASSERT_TRUE(*found);
    const passwd* entry = getpwnam("nobody");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ((*found)->uid, entry->pw_uid);
    EXPECT_EQ((*found)->gid, entry->pw_gid);
    EXPECT_EQ((*found)->name, "nobody");
    EXPECT_EQ((*found)->home, entry->pw_dir);
    EXPECT_EQ((*found)->shell, entry->pw_shell);
    EXPECT_THAT((*found)->groups, Contains(entry->pw_gid));
    const auto by_number = choose_identity(kRoot, std::to_string((*found)->uid), false);
    ASSERT_TRUE(by_number);
    EXPECT_EQ((*by_number)->name, "nobody");
}

TEST(ChooseIdentity, IsWhoCalledSudo) {
    const passwd* nobody = getpwnam("nobody");
    ASSERT_NE(nobody, nullptr);
    const Caller caller = under_sudo(std::to_string(nobody->pw_uid), "1000");
    const auto found = choose_identity(caller, std::nullopt, false);
    ASSERT_TRUE(found);
    ASSERT_TRUE(*found);
    EXPECT_EQ((*found)->name, "nobody");
    EXPECT_EQ((*found)->gid, 1000u);
    EXPECT_EQ(choose_identity(caller, std::nullopt, true).value(), std::nullopt) << "--root";
    EXPECT_EQ(choose_identity(caller, "root", false).value(), std::nullopt) << "--user root";
}

TEST(ChooseIdentity, KeepsTheIdsOfAUserWhomOnlySudoKnows) {
    const auto found = choose_identity(under_sudo("3999999", "3999998"), std::nullopt, false);
    ASSERT_TRUE(found);
    ASSERT_TRUE(*found);
    EXPECT_EQ((*found)->uid, 3999999u);
    EXPECT_EQ((*found)->gid, 3999998u);
    EXPECT_THAT((*found)->groups, ElementsAre(3999998u));
    EXPECT_EQ((*found)->name, "");
}

TEST(ChooseIdentity, IgnoresWhatSudoDidNotWrite) {
    for (const char* uid : {"0", "", "-1", "4294967295", "99999999999", "7x", " 7"}) {
        EXPECT_EQ(choose_identity(under_sudo(uid, "7"), std::nullopt, false).value(), std::nullopt)
            << uid;
        if (std::string(uid) == "0") continue;
        EXPECT_EQ(choose_identity(under_sudo("7", uid), std::nullopt, false).value(), std::nullopt)
            << uid;
    }
}

TEST(ChooseIdentity, SaysWhatIsWrong) {
    EXPECT_EQ(error_of(choose_identity(kRoot, "no-such-user", false)),
              "there is no user `no-such-user`");
    EXPECT_EQ(error_of(choose_identity(kRoot, "3999999", false)), "there is no user `3999999`");
    EXPECT_EQ(error_of(choose_identity(kPerson, "nobody", false)),
              "only root can run a command as `nobody`");
}

TEST(EnvironmentOf, HasTheIdentitysVariables) {
    EXPECT_EQ(environment_of(kRoot, std::nullopt), kRoot.environment);
    Identity identity;
    identity.name = "me";
    identity.home = "/home/me";
    identity.shell = "/bin/zsh";
    EXPECT_EQ(environment_of(kRoot, identity),
              (Texts{"A=1", "HOME=/home/me", "USER=me", "LOGNAME=me", "SHELL=/bin/zsh"}));
    EXPECT_EQ(environment_of(kRoot, Identity{}), kRoot.environment) << "nothing known of the user";
}

TEST(ChooseIdentity, OfASetUserIdProgramIsWhoCalledIt) {
    Caller caller{0, {"SUDO_UID=7", "SUDO_GID=7"}, Identity{1234, 1235, {1235}, "me", "", ""}};
    const auto chosen = choose_identity(caller, std::nullopt, false);
    ASSERT_TRUE(chosen && *chosen);
    EXPECT_EQ((*chosen)->uid, 1234u);
    EXPECT_EQ((*chosen)->gid, 1235u);
    for (const auto& [user, keep_root] :
         {std::pair<std::optional<std::string>, bool>("root", false), {std::nullopt, true}}) {
        const auto refused = choose_identity(caller, user, keep_root);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().message(),
                  "mlbcc is a set-user-ID program here: its commands run as who called it");
    }
}

}  // namespace
}  // namespace mlbcc::process
