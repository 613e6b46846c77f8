// Browsers refuse workers to pages that were opened from a file. There, the search runs in a frame instead, which has
// the same interface: messages in, messages out.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => this.deliver(structuredClone(data));
      inner.importScripts = () => {};
      this.ready = new Promise((resolve, reject) => {
        const script = inner.document.createElement("script");
        script.src = url;
        script.onload = () => resolve(inner);
        script.onerror = (event) => reject(this.onerror?.(event));
        inner.document.head.append(script);
      });
    }

    postMessage(message) {
      const data = structuredClone(message);
      this.ready.then((inner) => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }

    deliver(data) {
      setTimeout(() => this.onmessage?.({ data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
