"use strict";
// Headings of a sortable table sort its lines; values that are not there go last.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  headings.forEach((heading, column) => {
    heading.setAttribute("aria-sort", "none");
    heading.querySelector("button").addEventListener("click", () => {
      const first = heading.dataset.first ?? "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = heading.getAttribute("aria-sort") === first ? other : first;
      headings.forEach((each) => each.setAttribute("aria-sort", "none"));
      heading.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const text = heading.dataset.kind === "text";
      const key = (row) => {
        const cell = row.cells[column];
        return text ? cell.textContent.trim() : Number.parseFloat(cell.dataset.value);
      };
      const compare = (a, b) => {
        if (text) return sign * key(a).localeCompare(key(b));
        const [x, y] = [key(a), key(b)];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return sign * (x - y);
      };
      body.append(...[...body.rows].sort(compare));
    });
  });
}
