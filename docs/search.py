"""For MkDocs: a search that works from files, too. `search.js` takes the place of MkDocs' own program."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority


@event_priority(-100)  # after the search plugin has written its index
def on_post_build(config: Any, **_: Any) -> None:
    """Write the index as a script, which pages may load from files, and the program that uses it."""
    folder = Path(config["site_dir"], "search")
    index = json.loads((folder / "search_index.json").read_text(encoding="utf-8"))
    sections = [
        {"location": one["location"], "title": unescape(one["title"]), "text": unescape(one["text"]).replace(" ¶", "")}
        for one in index["docs"]
    ]
    script = f"var searchIndex = {json.dumps({'docs': sections})};\n"
    (folder / "index.js").write_text(script, encoding="utf-8")
    program = Path(__file__).with_name("search.js").read_text(encoding="utf-8")
    (folder / "main.js").write_text(program, encoding="utf-8")
    for name in ("worker.js", "lunr.js", "search_index.json"):
        (folder / name).unlink(missing_ok=True)
