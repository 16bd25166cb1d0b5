// A page that shows an answer while it comes: one session a visitor, server-sent events, nothing but Node.
import { createServer } from 'node:http'
import { anthropicModel, createEngine, inMemoryStore, type Session } from 'palimpsest'

const engine = createEngine({
  store: inMemoryStore(),
  model: anthropicModel({
    apiKey: process.env['ANTHROPIC_API_KEY'],
    baseUrl: process.env['ANTHROPIC_BASE_URL'],
  }),
  modelId: 'claude-sonnet-5',
})
const sessions = new Map<string, Session>()

const page = `<!doctype html><meta charset="utf-8"><title>Ask</title>
<form><input name="q" autofocus><button>Ask</button></form><pre></pre>
<script>
const visitor = crypto.randomUUID()
document.querySelector('form').onsubmit = (submit) => {
  submit.preventDefault()
  const out = document.querySelector('pre')
  out.textContent = ''
  const query = new URLSearchParams({ visitor, q: new FormData(submit.target).get('q') })
  const events = new EventSource('/ask?' + query)
  events.onmessage = ({ data }) => { out.textContent += JSON.parse(data) }
  events.addEventListener('end', () => events.close())
}
</script>`

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname !== '/ask') {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(page)
    return
  }
  void answer(searchParams.get('visitor') ?? '', searchParams.get('q') ?? '')

  async function answer(visitor: string, question: string): Promise<void> {
    response.setHeader('content-type', 'text/event-stream')
    // Whoever leaves the page stops the turn; what was said until then is kept.
    const left = new AbortController()
    response.on('close', () => left.abort())
    const session = sessions.get(visitor) ?? (await engine.open())
    sessions.set(visitor, session)
    for await (const event of session.send(question, left.signal)) {
      if (event.type === 'text-delta') response.write(`data: ${JSON.stringify(event.text)}\n\n`)
      if (event.type === 'turn-end')
        response.end(`event: end\ndata: ${JSON.stringify(event.failure?.message ?? 'done')}\n\n`)
    }
  }
})
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}/`)
})
process.on('SIGTERM', () => {
  server.closeAllConnections()
  server.close()
  for (const session of sessions.values()) void session.close()
})
