// Arrow keys move through the cells of a heat map; the focused cell's label is read as a sentence.
export function moveThroughMap(map) {
  const rows = [...map.querySelectorAll("[role=row]")].map((row) => [...row.querySelectorAll(".cell")]);
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  function place(cell) {
    const row = rows.findIndex((cells) => cells.includes(cell));
    return [row, rows[row].indexOf(cell)];
  }

  map.addEventListener("keydown", (event) => {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    const [row, column] = place(cell);
    const step = steps[event.key];
    const target = step ? rows[row + step[0]]?.[column + step[1]]
      : event.key === "Home" ? rows[row][0]
      : event.key === "End" ? rows[row].at(-1) : undefined;
    if (!target) return;
    event.preventDefault();
    cell.setAttribute("tabindex", "-1");
    target.setAttribute("tabindex", "0");
    target.focus();
  });
}
