// A gateway before one upstream with a folder of its own, as benches, runs of other makers' clients and tests start it.
import { join } from 'node:path'
import { machineFileSystem } from '../src/disk/fs.ts'
import { Recorder, startGateway, Tenants, type Gateway, type GatewayOptions } from '../src/gateway/index.ts'
import { modelTable } from '../src/model/models.ts'
import { defaults } from '../src/settings/defaults.ts'
import { fileStore } from '../src/stores/index.ts'
import { systemClock, systemIds } from '../src/transcript/ids.ts'

export function gatewayBefore(
  upstream: string,
  folder: string,
  options: Partial<GatewayOptions> = {},
): Promise<Gateway> {
  const url = new URL(upstream)
  const { clock = systemClock, tell = () => undefined } = options
  const keptFolder = join(folder, 'gateway')
  const store = fileStore({ root: join(folder, 'sessions') })
  return startGateway({
    level: 'trim',
    upstreams: { anthropic: url, 'openai-chat': url, 'openai-responses': url, gemini: url },
    listen: { host: '127.0.0.1', port: 0 },
    token: 'secret-token',
    salt: 'salt',
    limits: defaults.gateway,
    keptFolder,
    tenants: new Tenants(machineFileSystem, keptFolder, clock),
    recorder: new Recorder({ store, clock, ids: systemIds(), tell }),
    models: modelTable(),
    clock,
    tell,
    ...options,
  })
}
