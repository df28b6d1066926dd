// What pages gain where scripts run. Every page works without this file.
import { followSubmission } from "./live.js";
import { enhanceUpload } from "./upload.js";
import { moveThroughMap } from "./heatmap.js";

// Local time on hover, beside the UTC time that is shown.
for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  if (!Number.isNaN(moment.getTime())) {
    time.title = moment.toLocaleString(document.documentElement.lang, { dateStyle: "full", timeStyle: "long" });
  }
}

// Copy buttons appear only where copying is possible.
export function enableCopying(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      const name = button.textContent;
      button.textContent = "✓";
      setTimeout(() => { button.textContent = name; }, 1200);
    });
  }
}

// An operator named in the address is opened.
function openNamedOperator() {
  const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) named.open = true;
}

// Filters apply when a choice is made; the button remains for everyone else.
for (const select of document.querySelectorAll("form.filters select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

enableCopying(document);
openNamedOperator();
addEventListener("hashchange", openNamedOperator);
document.getElementById("faults")?.focus();

const live = document.querySelector("[data-live][data-settled=false]");
if (live) followSubmission(live);
const form = document.querySelector("form[data-upload]");
if (form) enhanceUpload(form);
for (const map of document.querySelectorAll("svg.heat-map")) moveThroughMap(map);
