// Follows a submission: each event of the stream lets the page fetch its own status part anew.
const POLL_MS = 10000;
const SETTLE_MS = 400;

export function followSubmission(part) {
  let waiting = null;

  async function refresh() {
    waiting = null;
    const answer = await fetch(part.dataset.part, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-live]");
    if (!fresh) return;
    if (fresh.dataset.settled === "true") {
      location.reload();
      return;
    }
    part.replaceChildren(...fresh.childNodes);
    showTail();
  }

  function showTail() {
    for (const log of part.querySelectorAll("[data-tail]")) log.scrollTop = log.scrollHeight;
  }

  function soon() {
    waiting ??= setTimeout(refresh, SETTLE_MS);
  }

  showTail();
  const stream = new EventSource(part.dataset.live);
  for (const kind of (part.dataset.kinds ?? "message").split(" ")) stream.addEventListener(kind, soon);
  stream.onmessage = soon;
  setInterval(() => { if (document.visibilityState === "visible") soon(); }, POLL_MS);
}
