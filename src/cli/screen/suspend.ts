/** Stops the process as Ctrl-Z does in every program; ends when the shell has it go on (`fg`). */
export function suspend(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGCONT', () => resolve())
    // The whole group, as the terminal would.
    process.kill(0, 'SIGTSTP')
  })
}
