"use strict";
// Shows the rows that hold every word typed and the choices made; the address keeps them.
(() => {
  const form = document.getElementById("filter"), count = document.getElementById("count");
  const rows = [...document.querySelectorAll("#runs tbody tr")];
  const texts = rows.map(row => row.textContent.toLowerCase());
  const columns = {operation: 1, target: 3, state: 5};
  const show = () => {
    const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, at) => {
      const fits = words.every(word => texts[at].includes(word))
        && Object.entries(columns).every(([name, column]) =>
          !form[name].value || row.cells[column].textContent === form[name].value)
        && (!form.since.value || row.cells[0].textContent.trim().slice(0, 10) >= form.since.value);
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} runs`;
    const kept = new URLSearchParams([...new FormData(form)].filter(([, value]) => value)).toString();
    if (kept || location.hash) history.replaceState(null, "", `#${kept}`);
  };
  for (const [name, value] of new URLSearchParams(location.hash.slice(1)))
    if (form.elements[name]) form.elements[name].value = value;
  form.addEventListener("input", show);
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  form.hidden = false;
  show();
})();
