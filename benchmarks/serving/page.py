"""How fast the page answers in a real browser: first summary after a paste, and slider moves.

    python benchmarks/serving/page.py

Starts ``sumfit serve`` and Chromium on this machine; needs playwright and chromium.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.serving.load import load_texts, percentile, start_server, stop_server

TEXTS_FILE = Path(__file__).with_name("texts.jsonl")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()
WAIT = "limit => document.querySelector('#count').textContent.includes(`of ${limit} `)"
MOVE = "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }"


def measure_page(page: Any, texts: list[str]) -> dict[str, Any]:
    """Paste each text, then move the slider; all times in milliseconds, browser included."""
    first_ms, at_once_ms, later_ms = [], [], []
    for text in texts:
        page.get_by_label("Your text").fill("")
        page.wait_for_selector("#summary.empty")
        start = time.perf_counter()
        page.get_by_label("Your text").fill(text)
        page.wait_for_selector("#summary:not(.empty)")
        first_ms.append(1000 * (time.perf_counter() - start))
        for limits, times in (((45, 37), at_once_ms), ((90, 30, 75, 52, 110), later_ms)):
            for limit in limits:
                start = time.perf_counter()
                page.locator("#limit").evaluate(MOVE, limit)
                page.wait_for_function(WAIT, arg=limit)
                times.append(1000 * (time.perf_counter() - start))
            page.wait_for_timeout(1500)
        page.locator("#limit").evaluate(MOVE, 60)
    return {
        name: {
            "median": round(statistics.median(values), 1),
            "p95": round(percentile(values, 0.95), 1),
            "max": round(max(values), 1),
        }
        for name, values in (
            ("first_summary_ms", first_ms),
            ("slider_just_after_paste_ms", at_once_ms),
            ("slider_later_ms", later_ms),
        )
    }


def main() -> int:
    """Measure and print JSON."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("chromium is not installed", file=sys.stderr)
        return 1
    texts = load_texts(TEXTS_FILE)
    with tempfile.TemporaryFile() as log, sync_playwright() as playwright:
        process, port = start_server(None, log)
        try:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"http://127.0.0.1:{port}/")
            page.wait_for_selector(".chip")
            print(json.dumps(measure_page(page, texts), indent=2))
            browser.close()
        finally:
            stop_server(process)
    return 0


if __name__ == "__main__":
    sys.exit(main())
