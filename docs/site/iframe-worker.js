// Browsers do not let a page that was opened as a file start a worker. Search then runs in a hidden frame that behaves like one.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      this.inside = inside;
      const base = new URL(url, document.baseURI);
      const load = (address) =>
        new Promise((resolve, reject) => {
          const script = inside.document.createElement("script");
          script.src = new URL(address, base);
          script.onload = resolve;
          script.onerror = () => reject(new Error("cannot load " + address));
          inside.document.head.appendChild(script);
        });
      inside.importScripts = (...all) => all.reduce((before, each) => before.then(() => load(each)), Promise.resolve());
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      load(base).then(() => {
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }
    postMessage(data) {
      if (!this.ready) this.waiting.push(data);
      else this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
    }
    terminate() {}
  };
}
