// The submit form with drag and drop, a check of the chosen file at once, and upload progress in bytes and time.
const MIB = 1024 * 1024;

function size(bytes) {
  return bytes < MIB ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}

// The same choice sent twice is one submission; another choice gets another key.
function freshKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function enhanceUpload(form) {
  const drop = form.querySelector(".drop");
  const input = form.querySelector("input[type=file]");
  const state = form.querySelector("[data-upload-state]");
  const bar = form.querySelector("progress");
  const button = form.querySelector("button[type=submit]");
  const words = form.dataset;
  let key = freshKey();

  function check() {
    const file = input.files[0];
    if (!file) return "";
    if (file.size > Number(words.maxBytes)) return words.tooLarge.replace("{size}", size(file.size));
    if (!/\.(tar|tar\.gz|tgz|tar\.xz|txz|tar\.zst|zip)$/i.test(file.name)) return words.wrongKind;
    return "";
  }

  function showChoice() {
    const file = input.files[0];
    const fault = check();
    drop.classList.toggle("invalid", Boolean(fault));
    input.setCustomValidity(fault);
    state.textContent = fault || (file ? `${file.name} · ${size(file.size)}` : "");
  }

  input.addEventListener("change", showChoice);
  form.addEventListener("input", () => { key = freshKey(); });
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) {
      input.files = event.dataTransfer.files;
      showChoice();
    }
  });

  function progress(began, event) {
    const seconds = (performance.now() - began) / 1000;
    const left = event.loaded ? Math.ceil((event.total - event.loaded) * seconds / event.loaded) : 0;
    bar.max = event.total;
    bar.value = event.loaded;
    state.textContent = event.loaded < event.total
      ? words.sending.replace("{sent}", size(event.loaded)).replace("{all}", size(event.total)).replace("{left}", left)
      : words.checking;
  }

  function show(request) {
    const answer = new DOMParser().parseFromString(request.responseText, "text/html");
    const main = answer.querySelector("main");
    if (!main) return failed();
    document.querySelector("main").replaceWith(main);
    document.title = answer.title;
    const fresh = main.querySelector("form[data-upload]");
    if (fresh) enhanceUpload(fresh);
    document.getElementById("faults")?.focus();
  }

  function failed() {
    bar.hidden = true;
    button.disabled = false;
    state.textContent = words.failed;
  }

  form.addEventListener("submit", (event) => {
    if (!input.files.length) return;
    event.preventDefault();
    const request = new XMLHttpRequest();
    const began = performance.now();
    bar.hidden = false;
    button.disabled = true;
    request.upload.addEventListener("progress", (part) => progress(began, part));
    request.addEventListener("load", () => {
      const arrived = new URL(request.responseURL);
      if (request.status < 400 && arrived.pathname !== location.pathname) location.assign(arrived.href);
      else show(request);
    });
    request.addEventListener("error", failed);
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "text/html");
    request.setRequestHeader("Idempotency-Key", key);
    request.send(new FormData(form));
  });
}
