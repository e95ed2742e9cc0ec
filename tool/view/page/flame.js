// Folded stacks ("comm;outermost;...;innermost", weight) to a flame graph of buttons.

const kNarrowest = 0.002; // of the width

function treeOf(stacks) {
  const root = { name: "all", weight: 0, children: new Map() };
  for (const [stack, weight] of stacks) {
    let node = root;
    node.weight += weight;
    for (const name of stack.split(";")) {
      if (!node.children.has(name)) node.children.set(name, { name, weight: 0, children: new Map() });
      node = node.children.get(name);
      node.weight += weight;
    }
  }
  return root;
}

class Flame {
  constructor(stacks) {
    this.root = treeOf(stacks);
    this.draw(this.root);
    byId("flame-all").addEventListener("click", () => this.draw(this.root));
  }

  draw(top) {
    const rows = [];
    let level = [[top, 0, 1]];
    while (level.length > 0) {
      rows.push(element("div", { className: "flame-row" }, ...level.map((one) => this.frame(...one))));
      level = level.flatMap(childrenOf);
    }
    byId("flame").replaceChildren(...rows);
    byId("flame-of").textContent = `${top.name}: ${grouped(top.weight)} of ${grouped(this.root.weight)} events`;
  }

  frame(node, from, width) {
    const share = ((100 * node.weight) / this.root.weight).toFixed(1);
    const button = element("button", { type: "button", textContent: node.name, title: `${node.name}: ${grouped(node.weight)}, ${share} %` });
    button.style.left = `${from * 100}%`;
    button.style.width = `calc(${width * 100}% - 1px)`;
    button.style.background = `hsl(${20 + (hueOf(node.name) % 40)} 80% 65%)`;
    button.addEventListener("click", () => this.draw(node));
    return button;
  }
}

function childrenOf([node, from, width]) {
  const placed = [];
  for (const child of [...node.children.values()].sort((a, b) => b.weight - a.weight)) {
    const share = (width * child.weight) / node.weight;
    if (share >= kNarrowest) placed.push([child, from, share]);
    from += share;
  }
  return placed;
}
