// Prism looks for code to colour on its own when it loads; this stands before it and says no.
Object.assign(globalThis, { Prism: { manual: true, disableWorkerMessageHandler: true } })
