// A simulator for a test file: started for a test, stopped behind it.
import { afterEach } from 'vitest'
import {
  createManualClock,
  createSimulator,
  type Answerer,
  type ManualClock,
  type Simulator,
  type SimulatorOptions,
} from '../src/simulator/index.ts'

export interface Served {
  readonly url: string
  readonly simulator: Simulator
  readonly clock: ManualClock
  /** The newest request. */
  readonly last: () => NonNullable<ReturnType<Simulator['log']['last']>>
}

/** Gives a function that starts simulators; all are stopped after each test. */
export function servers(): (answerer: Answerer, options?: Partial<SimulatorOptions>) => Promise<Served> {
  const running: Simulator[] = []
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop()))
  })
  return async (answerer, options = {}) => {
    const clock = createManualClock(1_800_000_000_000)
    const simulator = createSimulator({ answerer, clock, ...options })
    running.push(simulator)
    const { url } = await simulator.start()
    const last = () => {
      const found = simulator.log.last()
      if (found === null) throw new Error('nothing was asked')
      return found
    }
    return { url, simulator, clock, last }
  }
}
