"""Small files as programs of evaluations write them, made here after their documentation."""

import io
import json
import zipfile
import zlib


def promptfoo_rows(repeat=1, prompts=("plain",), providers=("openai:gpt", "file://elm.py")):
    """Two questions; the second provider fails the second one, and errs in nothing."""
    rows = []
    for time in range(repeat):
        for test, question in enumerate(("2+2?", "3+3?")):
            columns = [(provider, prompt) for provider in providers for prompt in prompts]
            for column, (provider, prompt) in enumerate(columns):
                right = test == 0 or provider == providers[0]
                rows.append(
                    {
                        "promptIdx": column, "testIdx": 2 * time + test,
                        "testCase": {"vars": {"q": question}, "assert": [{"type": "equals"}]},
                        "provider": {"id": provider, "label": ""}, "vars": {"q": question},
                        "prompt": {"raw": f"{prompt}: {question}", "label": prompt},
                        "response": {"output": "4", "tokenUsage": {"total": 9}},
                        "success": right, "score": 1 if right else 0.25, "failureReason": not right,
                        "namedScores": {"tone": 0.5 + test / 4}, "latencyMs": 12,
                        "gradingResult": {"pass": right, "score": 1, "reason": "said"},
                    }
                )  # fmt: skip
    return rows


def promptfoo(rows, version=3):
    """What `promptfoo eval --output results.json` writes."""
    results = {"version": version, "timestamp": "2026-01-01T00:00:00Z", "prompts": [],
               "results": rows, "stats": {"successes": 3, "failures": 1, "errors": 0}}  # fmt: skip
    return json.dumps({"evalId": "eval-x", "results": results, "config": {}, "shareableUrl": None})


def deepeval_cases(names=("test_case_0", "test_case_1")):
    """Two cases: relevancy passes above .5, bias below."""
    return [
        {
            "name": name, "input": f"question {i}", "actualOutput": "said", "success": i == 0,
            "metricsData": [
                {"name": "Answer Relevancy", "threshold": 0.5, "success": i == 0,
                 "score": 0.75 - i / 2, "strictMode": False, "error": None, "reason": "so"},
                {"name": "Bias", "threshold": 0.5, "success": i == 0, "score": 0.125 + i / 2,
                 "strictMode": False, "error": None, "reason": "so"},
            ],
            "runDuration": 1.5, "order": i, "evaluationCost": 0.01,
        }
        for i, name in enumerate(names)
    ]  # fmt: skip


def deepeval(cases):
    """A test run of DeepEval."""
    return {"testFile": "test_a.py", "testCases": cases, "conversationalTestCases": [],
            "metricsScores": [], "testPassed": 1, "testFailed": 1}  # fmt: skip


SWEBENCH = {
    "total_instances": 5, "submitted_instances": 4, "completed_instances": 2,
    "resolved_instances": 1, "unresolved_instances": 1, "empty_patch_instances": 1,
    "error_instances": 1, "unstopped_instances": 0, "completed_ids": ["a__a-1", "a__a-2"],
    "incomplete_ids": [], "empty_patch_ids": ["b__b-3"],
    "submitted_ids": ["a__a-1", "a__a-2", "b__b-3", "b__b-4"], "resolved_ids": ["a__a-2"],
    "unresolved_ids": ["a__a-1"], "error_ids": ["b__b-4"], "unstopped_containers": [],
    "unremoved_images": [], "schema_version": 2,
}  # fmt: skip
TREC = "".join(
    f"{measure:<22}\t{query}\t{value}\n"
    for query, values in {"301": (100, 0.25, 0.5), "302": (90, 0.75, 0.0)}.items()
    for measure, value in zip(("num_ret", "map", "P_10"), values, strict=True)
)
TREC += "".join(
    f"{measure:<22}\tall\t{value}\n"
    for measure, value in {"runid": "bm25", "num_q": 2, "map": 0.5, "P_10": 0.25}.items()
)
PYTREC = {
    "301": {"map": 0.25, "P_10": 0.5, "num_ret": 100.0},
    "302": {"map": 0.75, "P_10": 0.0, "num_ret": 90.0},
}
HUMAN_EVAL = "".join(
    f"{json.dumps({'task_id': f'HumanEval/{task}', 'completion': 'x', 'passed': own})}\n"
    for task, passed in enumerate(([True, False, True], [False, True, False]))
    for own in passed
)
FILES = {
    "human-eval": ("a.jsonl", HUMAN_EVAL),
    "promptfoo": ("results.json", promptfoo(promptfoo_rows())),
    "deepeval": ("test_run.json", json.dumps(deepeval(deepeval_cases()))),
    "swe-bench": ("elm.run1.json", json.dumps(SWEBENCH)),
    "trec-eval": ("bm25.eval", TREC),
    "pytrec-eval": ("bm25.json", json.dumps(PYTREC)),
}

CONTENT = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Default Extension="xml" ContentType="application/xml"/></Types>'
)
BOOK = (
    '<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/'
    'main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    "{}</sheets></workbook>"
)
RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships">{}</Relationships>'
)
ROOT = (
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/officeDocument" Target="xl/workbook.xml"/>'
)
RELATION = (
    '<Relationship Id="rId{0}" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/worksheet" Target="worksheets/sheet{0}.xml"/>'
)


def sheet(rows, first=1):
    """XML of a sheet, with texts inline."""

    def cell(column, row, value):
        at = f"{chr(65 + column)}{row}"
        if isinstance(value, str):
            return f'<c r="{at}" t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c r="{at}"><v>{value}</v></c>'

    lines = (
        f'<row r="{i}">{"".join(cell(k, i, v) for k, v in enumerate(row) if v is not None)}</row>'
        for i, row in enumerate(rows, first)
    )
    return (
        '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/'
        f'2006/main"><sheetData>{"".join(lines)}</sheetData></worksheet>'
    )


def workbook(*sheets):
    """An .xlsx file with these sheets."""
    numbers = range(1, len(sheets) + 1)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", CONTENT)
        archive.writestr("_rels/.rels", RELATIONS.format(ROOT))
        listed = "".join(f'<sheet name="S{i}" sheetId="{i}" r:id="rId{i}"/>' for i in numbers)
        archive.writestr("xl/workbook.xml", BOOK.format(listed))
        related = RELATIONS.format("".join(RELATION.format(i) for i in numbers))
        archive.writestr("xl/_rels/workbook.xml.rels", related)
        for i, xml in zip(numbers, sheets, strict=True):
            archive.writestr(f"xl/worksheets/sheet{i}.xml", xml)
    return data.getvalue()


def zstandard(members):
    """A zip whose members are packed with Zstandard, which zipfile of Python 3.11 cannot write."""
    from backports import zstd

    data, directory = b"", b""
    for name, content in members.items():
        packed = content if isinstance(content, tuple) else (zstd.compress(content), content)
        frame, whole = packed
        fields = b"".join(
            value.to_bytes(size, "little")
            for value, size in (
                (63, 2), (0, 2), (93, 2), (0, 4), (zlib.crc32(whole), 4), (len(frame), 4),
                (len(whole), 4), (len(name), 2), (0, 2),
            )
        )  # fmt: skip
        directory += b"PK\x01\x02\x3f\x00" + fields + b"\0" * 10
        directory += len(data).to_bytes(4, "little") + name.encode()
        data += b"PK\x03\x04" + fields + name.encode() + frame
    count = len(members).to_bytes(2, "little")
    end = len(directory).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    return data + directory + b"PK\x05\x06\0\0\0\0" + count + count + end + b"\0\0"
