// `pal inspect --export FILE`: one session as one file that shows itself in any browser, to attach to a bug.
import { resolve } from 'node:path'
import { machineFileSystem } from '../../../disk/fs.ts'
import { replaceFile } from '../../../disk/replace.ts'
import { exportSession } from '../../../inspector/exporting/export-session.ts'
import { copyOf } from '../../../inspector/exporting/session-copy.ts'
import type { Asset } from '../../../inspector/server/http.ts'
import { defaults } from '../../../settings/defaults.ts'
import { systemClock, type SessionId } from '../../../transcript/ids.ts'
import type { Store } from '../../../transcript/store.ts'
import { exits, fail, type Exit } from '../../exit-codes.ts'
import { safeJson, safeLine } from '../../terminal/safe-text.ts'
import { uniqueText, type Workplace } from '../../workplace/workplace.ts'
import { inspectionOf } from './inspection.ts'

export interface ExportWish {
  readonly file: string
  readonly isRaw: boolean
  readonly isJson: boolean
  readonly version: string
}

export async function exportTo(
  place: Workplace,
  store: Store,
  session: SessionId,
  assets: ReadonlyMap<string, Asset>,
  { file, isRaw, isJson, version }: ExportWish,
): Promise<Exit> {
  const { io } = place
  const [script, style] = [assets.get('/export.js'), assets.get('/page.css')]
  if (script === undefined || style === undefined)
    return fail(io, exits.failed, 'the page is not part of this build: build it with npm run build')
  const { exportBytes, exportSourceBytes } = defaults.inspector
  const copy = await copyOf(store, session, { isRedacted: !isRaw, mostBytes: exportSourceBytes })
  if (!copy.ok) return fail(io, exits.failed, copy.failure.message)
  const made = await exportSession({
    inspection: inspectionOf(place, { store: copy.store, scope: null }),
    session,
    about: { version },
    exported: { at: systemClock.now(), isRedacted: !isRaw, secrets: copy.secrets },
    page: { script: textOf(script), style: textOf(style) },
    mostBytes: exportBytes,
    progress: io.errIsTerminal
      ? (done, of) => (done % progressStep === 0 || done === of) && io.err(`\rpal: ${done} of ${of}`)
      : undefined,
  })
  if (io.errIsTerminal) io.err('\r')
  if (!made.ok) return fail(io, exits.failed, made.failure.message)
  const path = resolve(io.cwd, file)
  const bytes = Buffer.from(made.html)
  const put = await replaceFile(machineFileSystem, path, bytes, { mode: 0o600, unique: uniqueText })
  if (!put.ok) return fail(io, exits.failed, put.failure.message)
  const said = isRaw
    ? 'as it is: whatever secrets stand in it are in the file'
    : `${copy.secrets} pieces that look like secrets redacted; read it before you pass it on`
  io.out(
    isJson
      ? `${safeJson({ file: path, session, bytes: bytes.length, isRedacted: !isRaw, secrets: copy.secrets })}\n`
      : `${safeLine(path)}  ${Math.ceil(bytes.length / 1024).toLocaleString('en-US')} KB, session ${session}, ${said}\n`,
  )
  return exits.done
}

const progressStep = 50
const textOf = ({ bytes }: Asset): string => Buffer.from(bytes).toString('utf8')
