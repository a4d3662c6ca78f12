import type { Tool } from '@cobbler/agent';
import { defineTool, toolOutput } from '@cobbler/agent';
import { callable, read } from '@cobbler/agent/input';

/** The name of the tool with which a model asks for the approval of a plan. */
export const planToolName = 'present_plan';

/** Arguments of present_plan. */
export interface PresentPlanArgs {
  /** Markdown. */
  readonly plan: string;
}

/**
 * Creates present_plan, with which the model asks the user to approve a plan. The user sees all of it, and no rule can
 * answer for the user.
 * @param onApproved called when the user has approved a plan, before the model receives the approval. End the mode in which
 * nothing may change here. Receives the id of the session, which is empty outside of a run.
 */
export function planTool(onApproved: (sessionId: string) => void): Tool {
  const approved = read<typeof onApproved>(onApproved, callable, 'onApproved');
  return defineTool<PresentPlanArgs>({
    name: planToolName,
    description:
      'Shows the user a plan and asks for approval. Use it when the user wants a plan before anything changes, after you ' +
      'have read what matters. If the user rejects the plan, change it and present it again.',
    parameters: {
      type: 'object',
      properties: {
        plan: {
          type: 'string',
          minLength: 1,
          maxLength: 20_000,
          description:
            'Markdown: what you will change, where, in which order, and how you will check the result.',
        },
      },
      required: ['plan'],
      additionalProperties: false,
    },
    effect: 'read',
    mustAsk: () => 'Do you approve this plan?',
    execute: (_, { sessionId = '' }) => {
      approved(sessionId);
      return toolOutput({ content: 'The user approved the plan. Carry it out now.', summary: 'approved' });
    },
  });
}
