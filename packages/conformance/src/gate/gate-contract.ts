import type { ContractCase } from '@cobbler/agent/testing';
import { expectEqual } from '@cobbler/agent/testing';
import type { CallArguments } from './verdicts.ts';
import { allowing, changing, readOnce, refusing } from './verdicts.ts';

/** An implementation that lets user code decide on a call, adapted for the contract. */
export interface GateDoor {
  /** Name for reports. */
  readonly name: string;
  /** The arguments of the call that needs a decision. `command` is one of them. */
  readonly call: Readonly<Record<string, unknown>> & { readonly command: string };
  /**
   * True if a call can run with changed arguments. If false, an allow with changed arguments denies the call.
   */
  readonly takesChanges: boolean;
  /**
   * Presents the call for one decision. `decide` is the callback of the user: it receives the arguments, and
   * the implementation interprets what it returns, throws or rejects with.
   * @returns the arguments that the call ran with, or undefined if it did not run.
   */
  pass(decide: (shown: Record<string, unknown>) => unknown): Promise<CallArguments | undefined>;
}

/**
 * Returns the cases that every such implementation must pass: a call runs only after a clear permission, with the
 * permitted arguments. Each case returns one verdict, in the format of Cobbler or of the Claude Agent SDK, or an
 * invalid one.
 */
export function gateContract(door: GateDoor): ContractCase[] {
  return [
    ...allowing.map(([what, verdict]) => ({
      group: 'allows',
      name: `${what} runs the call unchanged [P21]`,
      run: async () => expectEqual(await door.pass(verdict), door.call, 'the arguments that ran'),
    })),
    ...changing.map(([what, verdict]) => ({
      group: 'changes',
      name: `${what} runs the call with these arguments or not at all [P9, P21]`,
      run: async () => {
        const wanted = { ...door.call, command: 'changed' };
        const ran = await door.pass(() => verdict(wanted));
        expectEqual(ran, door.takesChanges ? wanted : undefined, 'the arguments that ran');
      },
    })),
    ...readOnce.map(([what, verdict]) => ({
      group: 'reads once',
      name: `${what} runs only the arguments read first [P9, P21]`,
      run: async () => {
        const wanted = { ...door.call, command: 'changed' };
        const ran = await door.pass((shown) => verdict(wanted, shown));
        const isAsItCame = JSON.stringify(ran) === JSON.stringify(door.call);
        expectEqual(
          ran,
          isAsItCame ? door.call : door.takesChanges ? wanted : undefined,
          'the arguments that ran',
        );
      },
    })),
    ...refusing.map(([what, verdict]) => ({
      group: 'denies',
      name: `${what} denies the call [P21]`,
      run: async () => expectEqual(await door.pass(verdict), undefined, 'the arguments that ran'),
    })),
  ];
}
