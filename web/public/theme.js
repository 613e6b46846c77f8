// Runs before the first paint, so that a chosen theme never flashes in the other one.
(() => {
  const choice = localStorage.getItem("dovetail.theme");
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
