// The gateway: any client by its base URL, its requests watched and, where it was asked for, kept small.
export { startGateway, type Gateway, type GatewayLimits, type GatewayOptions } from './server.ts'
export { Recorder } from './recorder.ts'
export { Tenants } from './tenant.ts'
export type { Level } from './plan-types.ts'
export { isLoopback } from './access.ts'
export type { Figures } from './savings.ts'
export { pointingFor, programName, upstreamVariables, vendorUpstreams, type Pointing } from './clients.ts'
export { readOrMakeSalt } from './identity.ts'
