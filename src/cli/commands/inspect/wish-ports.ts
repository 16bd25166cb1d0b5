// Where wishes to a session that is open in another process lie.
import { join } from 'node:path'
import { machineFileSystem } from '../../../disk/fs.ts'
import type { WishPorts } from '../../../inspector/wishes.ts'
import { uniqueText } from '../../workplace/workplace.ts'

export const wishPorts = (home: string): WishPorts => ({
  fs: machineFileSystem,
  folder: join(home, 'wishes'),
  unique: uniqueText,
})
