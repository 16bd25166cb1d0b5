// A part that cannot be drawn says so and leaves the rest of the page as it is.
import { Component, type ComponentChildren } from 'preact'
import { marked } from '../text/shown-text.tsx'

interface Props {
  readonly children: ComponentChildren
}

export class Boundary extends Component<Props, { readonly problem: string | null }> {
  override state = { problem: null }

  override componentDidCatch(error: unknown): void {
    this.setState({ problem: error instanceof Error ? error.message : String(error) })
  }

  override render() {
    const { problem } = this.state
    if (problem === null) return this.props.children
    return (
      <p class="problem" role="alert">
        This could not be shown ({marked(problem)}). The raw entry is in the list.
      </p>
    )
  }
}
