// The default engine over a store of the caller's own: what lies beside a transcript works there as well.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { machineProcesses } from '../../src/disk/processes.ts'
import type { Session } from '../../src/index.ts'
import { jobsFile } from '../../src/preset/jobs.ts'
import { slugOf } from '../../src/preset/project.ts'
import { call, createSimulator, ruleModel } from '../../src/simulator/index.ts'
import { inMemoryStore } from '../../src/stores/index.ts'
import { readJobs } from '../../src/tools/shell/background-tasks.ts'
import { factsOf, later, ofType, turn } from '../e2e/simulated.ts'
import { opened, stage, type Stage } from './simulated-agents.ts'
import { until } from '../until.ts'

const filesOf = ({ home, project }: Pick<Stage, 'home' | 'project'>): string =>
  join(home, 'projects', slugOf(project), 'session-files')

async function begun({ preset }: Pick<Stage, 'preset'>): Promise<Session> {
  const session = await preset.engine.open()
  later(() => session.close())
  return session
}

/** Whether something comes to be so, for what is asserted and not only waited for. */
const comes = (isSo: () => Promise<boolean>): Promise<boolean> =>
  until(isSo).then(
    () => true,
    () => false,
  )

describe('with a store in memory', () => {
  it('[SN35] notes of the session are kept', async () => {
    const simulator = createSimulator({ answerer: ruleModel(), log: { bodies: 100 } })
    const { url } = await simulator.start()
    later(() => simulator.stop())
    const at = await stage([])
    const store = inMemoryStore()
    const { preset, heard } = await opened({ ...at, url }, { store, settings: { notes: true } })
    const session = await begun({ preset })
    await turn(session.send(`the first wish: ${'one more word about it. '.repeat(2500)}`))
    const updates = async () => ofType(await factsOf(store, session.id), 'notes-update').length
    expect(await comes(async () => (await updates()) === 1)).toBe(true)
    const path = join(filesOf(at), session.id, 'session-memory', 'summary.md')
    expect(await readFile(path, 'utf8')).toContain('the first wish')
    expect(heard.filter((event) => event.type === 'notice')).toEqual([])
  })

  it('[SN36] commands in the background are told to whoever looks from outside', async () => {
    const job = call('Bash', { command: 'echo begun; sleep 600', background: true })
    const at = await stage([{ when: 'main', answers: [[job], 'it runs'] }], { store: inMemoryStore() })
    const session = await begun(at)
    await turn(session.send('start it'))
    const ports = { fs: machineFileSystem, processes: machineProcesses }
    const told = async () => {
      const read = await readJobs(ports, jobsFile(filesOf(at), session.id))
      return read.ok ? read.rows : []
    }
    expect(await comes(async () => (await told()).length === 1)).toBe(true)
    expect(await told()).toMatchObject([{ command: 'echo begun; sleep 600', end: null }])
  })

  it('[SN36] messages reach a session from another program and from beside it', async () => {
    const at = await stage([{ when: 'main', answers: ['thanks'] }], { store: inMemoryStore() })
    const other = await opened(at, { store: inMemoryStore() })
    const [reader, neighbour, stranger] = [await begun(at), await begun(at), await begun(other)]
    const about = (text: string) => ({ summary: 'news', text, kind: 'message' as const })
    expect(
      await at.preset.agents.send(neighbour.id, `session:${reader.id}`, about('from beside')),
    ).toMatchObject({
      ok: true,
    })
    expect(
      await other.preset.agents.send(stranger.id, `session:${reader.id}`, about('from afar')),
    ).toMatchObject({
      ok: true,
    })
    await until(() => at.preset.agents.hasMail(reader.id), 'the mail')
    await turn(reader.send('anything new?'))
    const asked = JSON.stringify(at.simulator.log.requests.map(({ body }) => body))
    expect(asked).toContain('from beside')
    expect(asked).toContain('from afar')
  })
})
