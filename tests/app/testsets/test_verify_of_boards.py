"""What a leaderboard shows is verified from files, as every report of a comparison is."""

import json

from sigtest.cli import main

NAMES = ("aspen", "birch", "elm")
WAIT = {"Prefer": "wait=60"}


def test_the_report_of_a_leaderboard_is_verified(service, example, tmp_path, capsys):
    lines = {name: (example / f"systems/{name}.en").read_text().split("\n") for name in NAMES}
    lines["elm"][:90] = lines["aspen"][:90]  # of which a board does not speak
    files = ["-r", str(example / "reference.en")]
    asked = {
        "name": "verified",
        "references": [(example / "reference.en").read_text().split("\n")[:-1]],
        "metrics": ["bleu", "chrf"],
        "tests": ["approximate_randomization", "bootstrap"],
        "resamples": 99,
        "capacity": 5,
    }
    url = service.post("/v1/testsets", json=asked).headers["location"]
    for name, own in lines.items():
        path = tmp_path / f"{name}.en"
        path.write_text("\n".join(own))
        files.append(str(path))
        put = service.put(f"{url}/systems/{name}", json={"hypotheses": own[:-1]}, headers=WAIT)
        assert put.status_code == 201, put.text
    report = tmp_path / "board.json"
    for choices in (
        {},
        {"metric": "chrf", "test": "bootstrap", "correction": "bonferroni", "alpha": "0.01"},
    ):
        answer = service.get(f"{url}/leaderboard", params=choices)
        assert not answer.json()["pending"]
        report.write_bytes(answer.content)
        assert main(["verify", str(report), *files]) == 0
        assert "every byte of the report; what the leaderboard says" in capsys.readouterr().out
    # one leaves, and a copy comes: warnings of both stand where the board has them
    assert service.delete(f"{url}/systems/elm").status_code == 204
    body = {"hypotheses": lines["birch"][:-1]}
    assert service.put(f"{url}/systems/copy", json=body, headers=WAIT).status_code == 201
    frozen = service.post(f"{url}/frozen", headers=WAIT).json()
    left = tmp_path / "frozen.json"
    left.write_bytes(service.get(frozen["links"]["report"]).content)
    codes = [own["code"] for own in json.loads(left.read_bytes())["warnings"]]
    assert codes.index("systems-gone") < codes.index("identical-systems")
    assert main(["verify", str(left), *files[:4], f"copy={tmp_path / 'birch.en'}"]) == 0
    assert "verified, every byte" in capsys.readouterr().out
    p = answer.json()["pairs"][0]["p_value"]
    report.write_bytes(answer.content.replace(f'"p_value": {p}'.encode(), b'"p_value": 0.77', 1))
    assert main(["verify", str(report), *files]) == 1
    assert f"pairs[0].p_value: 0.77 is reported, {p} computed" in capsys.readouterr().out
    report.write_text(answer.text.replace('"metric": "chrf"', '"metric": "ter"', 1))
    assert main(["verify", str(report), *files]) == 2
    assert "Unknown metric 'ter'" in capsys.readouterr().err
