// Loaded before `pal` (NODE_OPTIONS=--require …): a write whose bytes match a pattern fails as a full disk does.
//   PAL_FAIL_WRITE   the pattern
//   PAL_FAIL_FROM    the first matching write that fails, counted from 1
//   PAL_FAIL_COUNT   how many of them fail
//   PAL_FAIL_CUT     set: no file can be truncated either
const files = require('node:fs/promises')
const { syncBuiltinESMExports } = require('node:module')

const { PAL_FAIL_WRITE = '', PAL_FAIL_FROM = '1', PAL_FAIL_COUNT = '1', PAL_FAIL_CUT } = process.env
const pattern = new RegExp(PAL_FAIL_WRITE)
let matched = 0
const { open } = files
files.open = async (...how) => {
  const handle = await open(...how)
  const write = handle.write.bind(handle)
  handle.write = (bytes, ...rest) => {
    if (PAL_FAIL_WRITE === '' || !pattern.test(Buffer.from(bytes).toString())) return write(bytes, ...rest)
    matched++
    const from = Number(PAL_FAIL_FROM)
    if (matched < from || matched >= from + Number(PAL_FAIL_COUNT)) return write(bytes, ...rest)
    return Promise.reject(
      Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
    )
  }
  if (PAL_FAIL_CUT !== undefined)
    handle.truncate = () =>
      Promise.reject(Object.assign(new Error('EIO: i/o error, ftruncate'), { code: 'EIO' }))
  return handle
}
syncBuiltinESMExports()
