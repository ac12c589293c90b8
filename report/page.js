
"use strict";
// A click on the name of a column sorts its table. Without this script everything is on the page all the same.
document.querySelectorAll("table").forEach(function (table) {
  var body = table.tBodies[0];
  if (body.rows.length < 3) return;
  table.querySelectorAll("thead th").forEach(function (head, at) {
    var button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) button.appendChild(head.firstChild);
    head.appendChild(button);
    button.addEventListener("click", function () {
      var down = head.getAttribute("aria-sort") === "ascending" ||
        (!head.hasAttribute("aria-sort") && head.classList.contains("n"));
      table.querySelectorAll("thead th").forEach(function (h) { h.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      function key(row) {
        var cell = row.cells[at], data = cell && cell.querySelector("data");
        return data ? Number(data.value) : cell ? cell.textContent : "";
      }
      var rows = Array.from(body.rows).map(function (row) { return {key: key(row), row: row}; });
      rows.sort(function (a, b) {
        if (a.key === "" || b.key === "") return (a.key === "") - (b.key === "");
        var order = typeof a.key === "number" && typeof b.key === "number" ? a.key - b.key
          : String(a.key).localeCompare(String(b.key), undefined, {numeric: true});
        return down ? -order : order;
      });
      rows.forEach(function (r) { body.appendChild(r.row); });
    });
  });
});

// Below a large map stands which cell the pointer is at.
document.querySelectorAll("figure[data-cells]").forEach(function (figure) {
  var map = JSON.parse(figure.dataset.cells), svg = figure.querySelector("svg"), line = document.createElement("p");
  line.className = "note cell";
  line.textContent = "Point at a cell to read it.";
  figure.querySelector(".draw").after(line);
  function at(part, from, to, names) { return Math.floor((part - from) / (to - from) * names.length); }
  function read(event) {
    var box = svg.getBoundingClientRect();
    var j = at((event.clientX - box.left) / box.width * map.Width, map.Area[0], map.Area[2], map.Columns);
    var i = at((event.clientY - box.top) / box.height * map.Height, map.Area[1], map.Area[3], map.Rows);
    if (!map.Rows[i] || !map.Columns[j]) return;
    line.textContent = "";
    [["target ", map.Rows[i]], [", source ", map.Columns[j]]].forEach(function (pair) {
      var name = document.createElement("bdi");
      name.textContent = pair[1];
      line.append(pair[0], name);
    });
    var value = map.Cells[i].split(" ")[j];
    line.append(value === "-" ? ": none" : ": " + value + " %");
  }
  svg.addEventListener("pointermove", read);
  svg.addEventListener("pointerdown", read);
});

// A link to a folded table opens it.
function unfold() {
  var at = location.hash && document.getElementById(location.hash.slice(1));
  var fold = at && at.closest("details");
  if (fold) { fold.open = true; fold.scrollIntoView(); }
}
addEventListener("hashchange", unfold);
unfold();
