// Properties draw alike in every run of the tests: what fails then is the change that was made, and fails again.
// A long look (PROPERTY_RUNS) draws anew; PROPERTY_SEED draws what a failure of one names.
import { configureGlobal, readConfigureGlobal } from 'fast-check'

const { PROPERTY_RUNS: runs, PROPERTY_SEED: seed } = process.env
if (seed !== undefined || runs === undefined) {
  configureGlobal({ ...readConfigureGlobal(), seed: Number(seed ?? 1) })
}
