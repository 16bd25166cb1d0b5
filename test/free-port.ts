// A port for a server that is killed and started again at the same place. The system gives ports of its own range to every
// listener that asks for any and to every connection that goes out, so one of those would be taken while the server is gone.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

const lowest = 20_000
/** Where the system's own range begins; where it cannot be read, where it usually does. */
function highest(): number {
  try {
    const begin = Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10)
    return begin > lowest ? begin : 32_768
  } catch {
    return 32_768
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

export async function freePort(): Promise<number> {
  const end = highest()
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (end - lowest))
    if (await isFree(port)) return port
  }
}
