// WebFetch: the text of one page of the public web. Which URLs may be asked for is decided before (`mayRun`); this file
// keeps it to http and https, public addresses, bounded time and size. It is not marked read-only although it changes
// nothing here: a URL can carry data away.
import { defaults } from '../../settings/defaults.ts'
import { text, toolWith, type InputOf } from '../input.ts'
import { failed, interrupted, succeeded } from '../outcome.ts'
import type { Tool } from '../tool.ts'
import type { HttpGetOptions } from './http-get.ts'

const fields = { url: text('') }
const readable = /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|yaml|x-ndjson|xhtml))/i

/** Fetches a public page as text. */
export function webFetchTool(options: HttpGetOptions = {}): Tool<InputOf<typeof fields>> {
  return toolWith(fields, {
    name: 'WebFetch',
    description: 'Get a page of the public web as text. Use addresses that the user or a result named.',
    policy: { readOnly: false, results: 'clear', maxResultChars: defaults.tools.maxResultChars },
    async run({ url }, _env, signal) {
      // Whoever fetches nothing does not load http, TLS and DNS.
      const [{ httpGet }, { pageText }] = await Promise.all([
        import('./http-get.ts'),
        import('./page-text.ts'),
      ])
      const got = await httpGet(url, options, signal)
      if (signal.aborted) return interrupted()
      if (!got.ok) return failed(`${url} was not fetched: ${got.why}.`)
      const type = got.type === '' ? 'text/plain' : got.type
      if (!readable.test(type))
        return failed(`${got.url} is ${type} (${got.bytes.length} bytes), which has no text to show.`)
      const decoded = decode(got.bytes, type)
      const page = /html/i.test(type) ? pageText(decoded) : decoded
      const notes = [
        got.url === url ? '' : `[from ${got.url}]`,
        got.cut ? `[cut at ${defaults.tools.fetchBytes} bytes]` : '',
        got.status >= 400 ? `[status ${got.status}]` : '',
      ]
      const body = [...notes, page].filter((part) => part !== '').join('\n')
      return got.status >= 400 ? failed(body) : succeeded(body)
    },
  })
}

function decode(bytes: Uint8Array, type: string): string {
  const label =
    /charset\s*=\s*"?([\w-]{1,40})/i.exec(type)?.[1] ??
    /<meta[^>]{1,200}charset\s{0,3}=\s{0,3}["']?([\w-]{1,40})/i.exec(
      Buffer.from(bytes.subarray(0, 4096)).toString('latin1'),
    )?.[1] ??
    'utf-8'
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    // A name of a charset that nobody knows.
    return new TextDecoder().decode(bytes)
  }
}
