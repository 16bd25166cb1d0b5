// Boxes on a real disk: what is there whole, what is acted on once, what is set aside.
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { machineFileSystem, type FileSystem } from '../../disk/fs.ts'
import { machineProcesses } from '../../disk/processes.ts'
import { temporaryName } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import { systemIds } from '../../transcript/ids.ts'
import { createBox, makeBox, type Box, type BoxPorts } from './box.ts'
import { createDirectory, createMessageSender, type Nearby } from './directory.ts'
import { decodeMessage, encodeMessage, shownMessage, type Message } from './message.ts'

const ids = systemIds()
const ports = (now: () => number = () => Date.now()): BoxPorts => ({
  fs: machineFileSystem,
  now,
  unique: () => ids.uuid(),
})

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pal-mail-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

async function boxIn(path: string, own = ports()): Promise<Box> {
  expect(await makeBox(path, own)).toMatchObject({ ok: true })
  return createBox(path, own)
}

const message = (text: string, more: Partial<Message> = {}): Message => ({
  id: ids.uuid(),
  from: { name: 'ann', session: 'session-ann' },
  to: 'bob',
  kind: 'message',
  summary: 'a word',
  text,
  at: 5,
  ...more,
})
const texts = ({ messages }: Awaited<ReturnType<Box['take']>>): readonly string[] =>
  messages.map((each) => each.message.text)

describe('a mailbox', () => {
  it('[AG8] what a killed writer left half written goes when it is old, and a writer that lives loses nothing', async () => {
    const path = await folder()
    await boxIn(path)
    const left = [join(path, 'tmp', 'half'), join(path, temporaryName('who'))]
    for (const file of left) await writeFile(file, '{"v":1,')
    const later = (ms: number): BoxPorts => ports(() => Date.now() + ms)
    const { unfinishedMs } = defaults.mailbox
    await boxIn(path, later(unfinishedMs / 2))
    expect(await readdir(join(path, 'tmp'))).toEqual(['half'])
    // A writer that stands still for longer than that, and somebody opens the box meanwhile.
    let isHeldUp = true
    const rename: FileSystem['rename'] = async (from, to) => {
      if (isHeldUp) await makeBox(path, later(2 * unfinishedMs))
      isHeldUp = false
      return machineFileSystem.rename(from, to)
    }
    const slow = createBox(path, { ...ports(), fs: { ...machineFileSystem, rename } })
    expect(await slow.post(message('late'))).toMatchObject({ ok: true })
    expect(await readdir(join(path, 'tmp'))).toEqual([])
    expect((await readdir(path)).toSorted()).toEqual(['bad', 'cur', 'new', 'tmp'])
    expect(texts(await createBox(path, ports()).take())).toEqual(['late'])
  })

  it('[AG4] a box that is still being made is not there yet', async () => {
    const root = await folder()
    const path = join(root, 'session-bob')
    const own = { ...ports(), processes: machineProcesses }
    const sender = createDirectory(root, own)
    const seen: string[] = []
    // Somebody writes to it after each step of its making.
    const makeFolder: FileSystem['makeFolder'] = async (folderPath, mode) => {
      await machineFileSystem.makeFolder(folderPath, mode)
      const found = await sender.boxOf('session-bob')
      const sent = found.ok ? await found.box.post(message('early')) : found
      seen.push(sent.ok ? 'sent' : sent.failure.message)
    }
    expect(await makeBox(path, { ...own, fs: { ...machineFileSystem, makeFolder } })).toMatchObject({
      ok: true,
    })
    expect(seen.at(-1)).toBe('sent')
    for (const each of seen.slice(0, -1)) expect(each).toContain('looking for the mailbox')
  })

  it('[AG1] gives a sender’s messages in order, over a clock that goes back and a sender that starts anew', async () => {
    const path = await folder()
    let now = 1000
    const box = await boxIn(
      path,
      ports(() => now),
    )
    for (const text of ['a', 'b']) await box.post(message(text))
    now = 10
    const again = createBox(
      path,
      ports(() => now),
    )
    await again.post(message('c'))
    const taken = await box.take()
    expect(texts(taken)).toEqual(['a', 'b', 'c'])
    await box.acted(taken.messages.map(({ name }) => name))
    await createBox(
      path,
      ports(() => 1),
    ).post(message('d'))
    expect(await readdir(join(path, 'cur'))).toHaveLength(3)
    const [last] = (await readdir(join(path, 'cur'))).toSorted().slice(-1)
    expect((await readdir(join(path, 'new')))[0]! > last!).toBe(true)
  })

  it('[AG2] keeps a message until it was acted on, and takes one id once', async () => {
    const path = await folder()
    const box = await boxIn(path)
    const twice = message('once')
    expect(await box.post(twice)).toMatchObject({ ok: true })
    expect(await box.post(twice)).toMatchObject({ ok: true })
    expect(texts(await box.take())).toEqual(['once'])
    const { messages } = await createBox(path, ports()).take()
    expect(messages.map((each) => each.message)).toMatchObject([twice])
    await box.acted(messages.map(({ name }) => name))
    expect(texts(await box.take())).toEqual([])
    expect(await box.post(twice)).toMatchObject({ ok: true })
    expect(await box.waiting()).toMatchObject({ count: 0 })
  })

  it('[AG3] sets aside what cannot be read, says so, and goes on with the others', async () => {
    const path = await folder()
    const box = await boxIn(path)
    await writeFile(join(path, 'new', `${'0'.repeat(17)}~evil~1`), '{"v":1,"id":')
    await box.post(message('good'))
    const taken = await box.take()
    expect(texts(taken)).toEqual(['good'])
    expect(taken.failures).toMatchObject([{ code: 'poison' }])
    expect(await readdir(join(path, 'bad'))).toHaveLength(1)
  })

  it('[AG3] sets aside what is no file, so that it stops nobody', async () => {
    const path = await folder()
    const box = await boxIn(path)
    await symlink('/etc/hostname', join(path, 'new', `${'0'.repeat(17)}~evil~1`))
    await mkdir(join(path, 'new', `${'0'.repeat(16)}1~evil~2`))
    await box.post(message('good'))
    const taken = await box.take()
    expect(texts(taken)).toEqual(['good'])
    expect(taken.failures).toMatchObject([{ code: 'poison' }, { code: 'poison' }])
    expect(await readdir(join(path, 'bad'))).toHaveLength(2)
  })

  it('[AG3] a message whose reader dies each time is tried alone and then set aside, and no other with it', async () => {
    const path = await folder()
    const box = await boxIn(path)
    for (const text of ['deadly', 'innocent', 'late']) await box.post(message(text))
    // Each new box is a reader after a crash: it took, and never told that it had acted.
    const seen: (readonly string[])[] = []
    for (let run = 0; run < defaults.mailbox.tries; run++)
      seen.push(texts(await createBox(path, ports()).take()))
    expect(seen).toEqual([['deadly', 'innocent', 'late'], ['deadly'], ['deadly']])
    const last = createBox(path, ports())
    const taken = await last.take()
    expect(taken.failures).toMatchObject([{ code: 'poison' }])
    const after = [...texts(taken), ...texts(await last.take())]
    expect(after).toEqual(['innocent', 'late'])
  })

  it('[AG4] that cannot be listed is a failure and not empty', async () => {
    const path = await folder()
    const box = await boxIn(path)
    await box.post(message('hidden'))
    await rm(join(path, 'new'), { recursive: true })
    await writeFile(join(path, 'new'), 'not a folder')
    expect(await box.take()).toMatchObject({ messages: [], failures: [{ code: 'not-found' }] })
    expect(await box.waiting()).toMatchObject({ ok: false })
    expect(await box.post(message('lost?'))).toMatchObject({ ok: false })
  })

  it('[AG4] a message that cannot be opened holds back what follows it', async () => {
    const path = await folder()
    let isLocked = true
    const denied = Object.assign(new Error('denied'), { code: 'EACCES' })
    const open: BoxPorts['fs']['open'] = (file, how, mode) =>
      isLocked && how === 'read' && file.includes('~')
        ? Promise.reject(denied)
        : machineFileSystem.open(file, how, mode)
    const box = await boxIn(path, { ...ports(), fs: { ...machineFileSystem, open } })
    for (const text of ['first', 'second']) await box.post(message(text))
    expect(await box.take()).toMatchObject({ messages: [], failures: [{ code: 'no-access' }] })
    isLocked = false
    expect(texts(await box.take())).toEqual(['first', 'second'])
  })

  it('[AG5] refuses to the sender’s face what is too large or one too many', async () => {
    const path = await folder()
    const box = await boxIn(path)
    const large = await box.post(message('x'.repeat(defaults.mailbox.messageBytes)))
    expect(large).toMatchObject({ ok: false, failure: { code: 'too-large' } })
    const name = (at: number) => join(path, 'new', `${String(at).padStart(17, '0')}~s~${at}`)
    for (let at = 0; at < defaults.mailbox.waiting; at++) await writeFile(name(at), '')
    expect(await box.post(message('more'))).toMatchObject({ ok: false, failure: { code: 'box-full' } })
  })

  it('[AG6] a message survives its form, and no text closes the tags around it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, summary) => {
        const whole = message(text, { summary })
        expect(decodeMessage(encodeMessage(whole))).toMatchObject({ text, summary })
        const shown = shownMessage(message(`${text}</agent-message>${text}`, { summary }))
        expect(shown.split('</agent-message>')).toHaveLength(2)
      }),
      { numRuns: 50 },
    )
    expect(decodeMessage(encodeMessage(message('é')).subarray(0, -4))).toBeNull()
  })
})

describe('the post office', () => {
  const near = (known: Record<string, string>): Nearby & { readonly got: string[] } => {
    const got: string[] = []
    return {
      got,
      names: (except) =>
        Object.entries(known)
          .map(([name, session]) => ({ name, session }))
          .filter(({ session }) => session !== except),
      hand: (session, { text }) => {
        if (!Object.values(known).includes(session)) return null
        got.push(`${session}: ${text}`)
        return Promise.resolve({ ok: true })
      },
    }
  }

  it('[AG7] looks in the process first, then among living boxes, then for a scheme, and names who there is', async () => {
    const root = await folder()
    const directory = createDirectory(root, { ...ports(), processes: machineProcesses })
    const far = await directory.open({ name: 'bob', session: 'far-bob' })
    await directory.open({ name: 'cid', session: 'far-cid' })
    const nearby = near({ bob: 'near-bob', ann: 'session-ann' })
    const carried: string[] = []
    const registry = createMessageSender({
      nearby,
      directory,
      carriers: [{ scheme: 'store', send: async (address) => (carried.push(address), { ok: true }) }],
    })
    expect(await registry.send(message('1'))).toMatchObject({ ok: true, to: ['bob'] })
    expect(nearby.got).toEqual(['near-bob: 1'])
    expect(await registry.send(message('2', { to: 'cid' }))).toMatchObject({ ok: true, to: ['cid'] })
    expect(await registry.send(message('3', { to: 'session:far-bob' }))).toMatchObject({ ok: true })
    expect(await registry.send(message('4', { to: 'store:b1' }))).toMatchObject({ ok: true })
    expect(carried).toEqual(['b1'])
    expect(await registry.send(message('5', { to: '*' }))).toMatchObject({
      ok: true,
      to: ['bob', 'bob', 'cid'],
    })
    const inBox = far.ok ? texts(await far.box.take()) : []
    expect(inBox).toEqual(['3', '5'])
    const unknown = await registry.send(message('6', { to: 'dan' }))
    expect(unknown).toMatchObject({ ok: false, why: expect.stringContaining('bob, bob, cid') as string })
    expect(await registry.send(message('7', { to: 'pigeon:x' }))).toMatchObject({ ok: false })
    expect(await registry.send(message('8', { to: 'session:nobody' }))).toMatchObject({ ok: false })
  })

  it('[AG7] the name of a process that has died is no name, but its session keeps its box', async () => {
    const root = await folder()
    const directory = createDirectory(root, { ...ports(), processes: machineProcesses })
    await directory.open({ name: 'gone', session: 'gone-1' })
    const card = { name: 'gone', session: 'gone-1', ...(await machineProcesses.self()), start: '1' }
    await writeFile(join(root, 'gone-1', 'who.json'), JSON.stringify(card))
    expect((await directory.living()).cards).toEqual([])
    const registry = createMessageSender({ nearby: near({}), directory })
    expect(await registry.send(message('x', { to: 'gone' }))).toMatchObject({ ok: false })
    expect(await registry.send(message('x', { to: 'session:gone-1' }))).toMatchObject({ ok: true })
  })
})
