import type { Tool } from '@cobbler/agent';
import { defineTool } from '@cobbler/agent';

/** Arguments of your_own. */
export interface YourOwnArgs {
  /** What it is done to. */
  readonly subject: string;
}

/** Does what its description promises the model. */
export function yourOwn(): Tool {
  return defineTool<YourOwnArgs>({
    name: 'your_own',
    description: 'Say what it does, when to use it, and what comes back.',
    parameters: {
      type: 'object',
      properties: { subject: { type: 'string', description: 'What it is done to.' } },
      required: ['subject'],
      additionalProperties: false,
    },
    // `read` changes nothing, `idempotent` may safely run again, `once` must never run twice.
    effect: 'once',
    subject: ({ subject }) => subject,
    execute({ subject }) {
      throw new Error(`src/your-own.ts, execute: do it to ${subject}, and give what the model is to know.`);
    },
  });
}
