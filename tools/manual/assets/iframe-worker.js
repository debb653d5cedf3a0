// Search from disk: browsers refuse workers whose script is a file, so that the page's one worker
// runs in a hidden frame instead. Served by a host, pages use workers as they are.
if (location.protocol === "file:") {
  window.Worker = class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      // What a worker's script expects to find around it. Messages are copies, and arrive later.
      inner.postMessage = (data) => later(data, (copy) => this.receive(copy));
      inner.importScripts = (...urls) =>
        urls.reduce((before, each) => before.then(() => load(inner, each)), Promise.resolve());
      this.ready = load(inner, new URL(url, location.href).href);
    }

    receive(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      this.onmessage?.(event);
    }

    postMessage(data) {
      const inner = this.frame.contentWindow;
      const deliver = (copy) =>
        inner.dispatchEvent(new inner.MessageEvent("message", { data: copy }));
      this.ready.then(() => later(data, deliver));
    }

    terminate() {
      this.frame.remove();
    }
  };

  function later(data, deliver) {
    const copy = structuredClone(data);
    setTimeout(() => deliver(copy));
  }

  function load(inner, url) {
    return new Promise((resolve, reject) => {
      const script = inner.document.createElement("script");
      script.src = url;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${url} cannot be loaded`));
      inner.document.head.append(script);
    });
  }
}
