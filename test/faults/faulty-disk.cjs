// Loaded before `pal` (NODE_OPTIONS=--require …): something happens at the Nth operation on files of the folder under test.
//   PAL_FAULT        kill, tear, ENOSPC (once), full (from there on), EIO; none: operations are only counted
//   PAL_FAULT_AT     which one of those it can happen to, counted from 1
//   PAL_FAULT_UNDER  only paths below this folder count
//   PAL_FAULT_COUNT  a file that gets the names of all operations, one a line, when the process ends
const files = require('node:fs/promises')
const { appendFileSync, readlinkSync } = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')

const { PAL_FAULT, PAL_FAULT_AT = '0', PAL_FAULT_UNDER = '/', PAL_FAULT_COUNT } = process.env
const writing = /^(open-create|write|truncate|datasync|sync|mkdir|rename|link|chmod)$/
const names = []
let met = 0
let isFull = false

function isTarget(name) {
  if (PAL_FAULT === 'tear') return name === 'write'
  return PAL_FAULT === 'kill' || PAL_FAULT === 'EIO' || writing.test(name)
}
const failing = (code) => Object.assign(new Error(`${code}: made to happen`), { code })
const die = () => {
  note()
  process.kill(process.pid, 'SIGKILL')
  for (;;);
}
function note() {
  if (PAL_FAULT_COUNT !== undefined) appendFileSync(PAL_FAULT_COUNT, `${names.splice(0).join('\n')}\n`)
}

/** True where a write is to be torn. */
function before(name, path) {
  if (!path.startsWith(PAL_FAULT_UNDER)) return false
  names.push(name)
  if (isFull && writing.test(name)) throw failing('ENOSPC')
  if (PAL_FAULT === undefined || !isTarget(name) || ++met !== Number(PAL_FAULT_AT)) return false
  if (PAL_FAULT === 'kill') die()
  if (PAL_FAULT === 'tear') return true
  isFull = PAL_FAULT === 'full'
  throw failing(PAL_FAULT === 'EIO' ? 'EIO' : 'ENOSPC')
}
/** Paths of open folders are names below /proc. */
function plain(path) {
  const found = /^\/proc\/self\/fd\/(\d+)(.*)$/.exec(String(path))
  try {
    return found === null ? String(path) : readlinkSync(`/proc/self/fd/${found[1]}`) + found[2]
  } catch {
    return String(path)
  }
}

const { open } = files
const creating = 0o100
files.open = async (path, flags, ...rest) => {
  const where = plain(path)
  const isNew = typeof flags === 'number' ? (flags & creating) !== 0 : /[wax]/.test(flags ?? 'r')
  before(isNew ? 'open-create' : 'open', where)
  const handle = await open(path, flags, ...rest)
  for (const name of ['read', 'truncate', 'datasync', 'sync', 'stat', 'chmod', 'utimes']) {
    const inner = handle[name].bind(handle)
    handle[name] = async (...args) => (before(name, where), await inner(...args))
  }
  const write = handle.write.bind(handle)
  handle.write = async (bytes, ...args) => {
    if (before('write', where)) {
      await write(bytes.subarray(0, Math.floor(bytes.byteLength / 2)))
      die()
    }
    return await write(bytes, ...args)
  }
  return handle
}
for (const name of [
  'lstat',
  'stat',
  'realpath',
  'readdir',
  'mkdir',
  'unlink',
  'rmdir',
  'rm',
  'readFile',
  'writeFile',
]) {
  const inner = files[name]
  files[name] = async (path, ...rest) => (before(name, plain(path)), await inner(path, ...rest))
}
for (const name of ['rename', 'link']) {
  const inner = files[name]
  files[name] = async (from, to) => (before(name, plain(to)), await inner(from, to))
}
syncBuiltinESMExports()
process.on('exit', note)
