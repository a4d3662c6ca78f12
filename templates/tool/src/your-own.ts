import type { Tool } from '@cobbler/agent';
import { defineTool } from '@cobbler/agent';

/** Arguments of your_own. */
export interface YourOwnArgs {
  /** The object to act on. */
  readonly subject: string;
}

/** Creates the tool your_own. */
export function yourOwn(): Tool {
  return defineTool<YourOwnArgs>({
    name: 'your_own',
    description: 'Describe what it does, when to use it, and what it returns.',
    parameters: {
      type: 'object',
      properties: { subject: { type: 'string', description: 'The object to act on.' } },
      required: ['subject'],
      additionalProperties: false,
    },
    // `read` changes nothing, `idempotent` may safely run again, `once` must never run twice.
    effect: 'once',
    subject: ({ subject }) => subject,
    execute({ subject }) {
      throw new Error(`src/your-own.ts, execute: act on ${subject}, and return the result for the model.`);
    },
  });
}
