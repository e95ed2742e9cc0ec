"""What a JSON schema of docs/ says of a document, by python3-jsonschema."""

import json
import subprocess
import unittest

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's jsonschema
VALIDATE = """
import json, sys, jsonschema
schema, document = json.load(open(sys.argv[1])), json.load(sys.stdin)
jsonschema.Draft202012Validator.check_schema(schema)
faults = [f"{list(e.absolute_path)}: {e.message}" for e in jsonschema.Draft202012Validator(schema).iter_errors(document)]
print("\\n".join(faults[:20]))
"""


def faults(schema, document):
    """A line a fault; "" for none."""
    if subprocess.run([PYTHON, "-c", "import jsonschema"], capture_output=True, check=False).returncode != 0:
        raise unittest.SkipTest("python3-jsonschema is not installed (scripts/setup.sh --tests)")
    return subprocess.run([PYTHON, "-c", VALIDATE, schema], input=json.dumps(document), capture_output=True, text=True,
                          check=True).stdout.strip()
