"use strict";
// The slider and the curve of a model's page, from the counts of confidences inside the page.
{
  const data = JSON.parse(document.getElementById("data").textContent);
  const choice = document.getElementById("choice");
  const cut = document.getElementById("cut");
  const show = (id, text) => { document.getElementById(id).textContent = text; };
  const sum = (counts) => counts.reduce((total, count) => total + count, 0);
  const share = (part, whole) => (whole ? (part / whole).toFixed(3) : "–");
  const update = () => {
    const { true: yes, false: no } = data.choices[choice.value];
    const from = Number(cut.value);
    const hits = sum(yes.slice(from));
    const predicted = hits + sum(no.slice(from));
    const support = sum(yes);
    show("cut-value", (from / 100).toFixed(2));
    show("what-command", (from / 100).toFixed(2));
    show("what-predicted", data.rows ? (predicted / data.rows).toFixed(2) : "–");
    show("what-precision", share(hits, predicted));
    show("what-recall", share(hits, support));
    show("what-f1", share(2 * hits, predicted + support));
  };
  const draw = () => {
    const { name, curve } = data.choices[choice.value];
    const places = curve.map(([a, b]) => [40 + 250 * a, 270 - 250 * b]);
    document.getElementById("curve").setAttribute("points", places.map((p) => p.join(",")).join(" "));
    const dots = places.map(([x, y]) => {
      const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      for (const [key, value] of Object.entries({ cx: x, cy: y, r: 4, fill: "var(--accent)" }))
        dot.setAttribute(key, value);
      return dot;
    });
    document.getElementById("curve-points").replaceChildren(...dots);
    show("curve-name", name);
  };
  cut.addEventListener("input", update);
  choice.addEventListener("change", () => { update(); draw(); });
  update();
}
