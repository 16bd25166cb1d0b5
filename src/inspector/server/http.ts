// Bodies in, answers out. A client that sends slowly or reads slowly costs a connection for a while and no memory.
import { jsonIn } from '../../transcript/json.ts'
import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { defaults } from '../../settings/defaults.ts'
import { isRecord } from '../../transcript/content.ts'
import { answerHeaders } from './guard.ts'

export type Body =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly status: number; readonly problem: string }

export async function jsonBody(incoming: IncomingMessage): Promise<Body> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of incoming) {
    bytes += (piece as Buffer).length
    if (bytes > defaults.inspector.postBytes)
      return { ok: false, status: 413, problem: 'the body is too large' }
    pieces.push(piece as Buffer)
  }
  const value = jsonIn(Buffer.concat(pieces).toString('utf8'))
  if (isRecord(value)) return { ok: true, value }
  const problem = value === undefined ? 'the body is no JSON' : 'the body must be an object'
  return { ok: false, status: 400, problem }
}

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Uint8Array,
  more: Readonly<Record<string, string>> = {},
): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  response.writeHead(status, {
    ...answerHeaders,
    'content-type': type,
    'content-length': String(bytes.byteLength),
    ...more,
  })
  response.end(response.req.method === 'HEAD' ? undefined : bytes)
}

export const sendJson = (
  response: ServerResponse,
  value: unknown,
  status = 200,
  more: Readonly<Record<string, string>> = {},
): void => send(response, status, 'application/json; charset=utf-8', JSON.stringify(value), more)

export const sendProblem = (
  response: ServerResponse,
  status: number,
  problem: string,
  more?: Readonly<Record<string, string>>,
): void => sendJson(response, { problem }, status, more)

// The files of the page: those that the bundle wrote into one folder, read once at the start. A path names one of them or
// nothing; it is never looked up on the disk.
export interface Asset {
  readonly type: string
  readonly bytes: Uint8Array
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** By path. Empty where the folder is not there: the page has not been built. */
export async function loadAssets(folder: string): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>()
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const type = types[name.split('.').at(-1) ?? '']
    if (type === undefined) continue
    const asset = { type, bytes: await readFile(join(folder, name)) }
    assets.set(`/${name}`, asset)
    if (name === 'index.html') assets.set('/', asset)
  }
  return assets
}
