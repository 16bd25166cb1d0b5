// The port of the reminder: whoever knows what stands before the first user message.

export interface ReminderSource {
  /** Never throws. */
  load(moment: 'start' | 'compact'): Promise<LoadedReminder>
  /** The paths of the files that such a text holds, so that a compaction does not give them back a second time. */
  toldIn?(reminder: string | null): ReadonlySet<string>
}
export interface LoadedReminder {
  readonly text: string | null
  /** To be shown: files left out, changed, too long. */
  readonly notices: readonly string[]
}
