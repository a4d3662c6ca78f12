/** Maximum number of conversations that are kept; those that changed least recently are dropped. */
const maxConversations = 1_000;

/** What an agent knows about its latest conversations, by their ids. */
export class RecentConversations<Value> {
  readonly #known: Map<string, Value> = new Map();

  get(id: string): Value | undefined {
    return this.#known.get(id);
  }

  set(id: string, value: Value): void {
    this.#known.delete(id);
    this.#known.set(id, value);
    const [oldest = ''] = this.#known.keys();
    if (this.#known.size > maxConversations) this.#known.delete(oldest);
  }
}
