// Where the thread of a replay begins.
import { parentPort, workerData } from 'node:worker_threads'
import { playTask } from './replay-task.ts'
import type { ReplayTask } from './replays.ts'

parentPort?.postMessage(await playTask(workerData as ReplayTask), [])
