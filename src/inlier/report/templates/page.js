// All that is on the page is there without this script. It sorts, filters, tells which row is
// under the pointer, and changes between dark and light. Names go into the page as text only.
"use strict";
(() => {
  const root = document.documentElement;

  // -- Dark or light --
  const button = document.querySelector("button.theme");
  const dark = () =>
    root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  label();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    label();
  });

  // -- Sorting: up, down, up --
  const key = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind === "text") return cell.textContent;
    // Python writes inf and nan, which JavaScript does not read.
    const raw = cell.dataset.value.replace("inf", "Infinity");
    return kind === "size" ? Math.abs(Number(raw)) : Number(raw);
  };
  const compare = (kind) => {
    if (kind === "text") {
      const order = new Intl.Collator(undefined, { numeric: true });
      return (a, b) => order.compare(a, b);
    }
    return (a, b) => (a === b ? 0 : a < b ? -1 : 1);
  };
  const sort = (table, column, head, up) => {
    const body = table.tBodies[0];
    const kind = head.dataset.sort;
    const order = compare(kind);
    const keyed = Array.from(body.rows, (row) => [key(row, column, kind), row]);
    // What is not a number comes last, whichever way.
    const rest = keyed.filter(([k]) => Number.isNaN(k));
    const known = keyed.filter(([k]) => !Number.isNaN(k));
    known.sort(([a], [b]) => (up ? order(a, b) : order(b, a)));
    body.append(...known.concat(rest).map(([, row]) => row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      if (!head.dataset.sort) return;
      const inside = document.createElement("button");
      inside.type = "button";
      inside.textContent = head.textContent;
      head.replaceChildren(inside);
      inside.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        // Names go up first, numbers down: the largest are looked for.
        const up = now ? now === "descending" : head.dataset.sort === "text";
        sort(table, column, head, up);
      });
    });
  }

  // -- Finding columns --
  for (const box of document.querySelectorAll(".searchable")) {
    const input = box.querySelector("input");
    const found = box.querySelector("output");
    const rows = Array.from(box.querySelector("tbody").rows);
    box.querySelector(".controls").hidden = false;
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
        shown += !row.hidden;
      }
      found.textContent = wanted ? `${shown} of ${rows.length}` : "";
    });
  }

  // -- Which row is this? --
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const REACH = 14; // pixels
  const points = (marks) =>
    Array.from(marks.querySelectorAll("use"), (mark) =>
      [+mark.getAttribute("x"), +mark.getAttribute("y")]);
  for (const script of document.querySelectorAll("script.rows")) {
    const kinds = new Map(JSON.parse(script.textContent).map((kind) => [kind.key, kind]));
    const scope = script.closest("article.group") || document;
    for (const chart of scope.querySelectorAll("svg.chart")) {
      const kinds_drawn = Array.from(chart.querySelectorAll("[data-rows]"));
      if (!kinds_drawn.length) continue;
      let all = null; // read when it is first needed
      const leave = () => { tip.hidden = true; };
      chart.addEventListener("pointerleave", leave);
      chart.addEventListener("pointermove", (event) => {
        all ||= kinds_drawn.flatMap((marks) =>
          points(marks).map(([x, y], i) => [x, y, i, kinds.get(marks.dataset.rows)]));
        const box = chart.getBoundingClientRect();
        const scale = box.width / chart.viewBox.baseVal.width;
        const x = (event.clientX - box.left) / scale;
        const y = (event.clientY - box.top) / scale;
        let best = null;
        let least = (REACH / scale) ** 2;
        for (const point of all) {
          const away = (point[0] - x) ** 2 + (point[1] - y) ** 2;
          if (away <= least) { least = away; best = point; }
        }
        if (!best) return leave();
        const [px, py, i, kind] = best;
        const row = `row ${kind.rows[i]}`;
        const name = document.createElement("bdi");
        name.textContent = kind.names ? kind.names[i] : row;
        const rest = document.createElement("span");
        rest.textContent =
          `${kind.names ? `${row}, ` : ""}score ${kind.scores[i]}, ${kind.label}`;
        tip.replaceChildren(name, rest);
        tip.hidden = false;
        const left = box.left + px * scale + 12;
        const wide = tip.offsetWidth;
        const fits = left + wide < root.clientWidth;
        tip.style.left = `${scrollX + (fits ? left : Math.max(4, left - wide - 24))}px`;
        tip.style.top = `${scrollY + box.top + py * scale + 10}px`;
      });
    }
  }
})();
