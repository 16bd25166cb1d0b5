// Server-sent events out of bytes, as every provider streams them: fields by line, an empty line between events. Comments and
// fields that nobody asked for are passed over; what is left unfinished at the end was never sent.

/** The data of each event, with its name where it has one. */
export async function* eventsIn(
  body: ReadableStream<Uint8Array>,
  touch: () => void = () => {},
): AsyncGenerator<{ readonly name: string | null; readonly data: string }> {
  const decoder = new TextDecoder()
  let rest = ''
  let name: string | null = null
  let data: string[] = []
  for await (const chunk of chunksOf(body)) {
    touch()
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { name, data: data.join('\n') }
        name = null
        data = []
        continue
      }
      const [field, value] = fieldOf(line)
      if (field === 'event') name = value
      if (field === 'data') data.push(value)
    }
  }
  // Some servers end without the empty line.
  const [field, value] = fieldOf(rest.replace(/\r$/, ''))
  if (field === 'data') data.push(value)
  if (data.length > 0) yield { name, data: data.join('\n') }
}

function fieldOf(line: string): readonly [field: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 0) return [line, '']
  const value = line.slice(colon + 1)
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value]
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    // Whoever stops listening lets go of the connection.
    await reader.cancel().catch(() => undefined)
  }
}
