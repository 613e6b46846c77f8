// Runs before the first paint, so that the page never flashes in the wrong theme.
(() => {
  const choice = localStorage.getItem("dovetail.theme");
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
