import type { ContractCase } from '@cobbler/agent/testing';
import { expectEqual } from '@cobbler/agent/testing';
import type { AskedFor } from './verdicts.ts';
import { allowing, changing, readOnce, refusing } from './verdicts.ts';

/** A place where code of a user decides about a call. */
export interface GateDoor {
  /** For reports only: no case looks at it. */
  readonly name: string;
  /** The arguments of the call that waits at the door. `command` is one of them. */
  readonly call: Readonly<Record<string, unknown>> & { readonly command: string };
  /** Whether a call can run with other arguments than those it came with. Without, such an allow denies. */
  readonly takesChanges: boolean;
  /**
   * Lets the call come to the door once. `decide` is the callback of the user: it gets the arguments that the door
   * shows it, and the door judges what it returns, throws or rejects with.
   * @returns the arguments that the call ran with; undefined when it did not run.
   */
  pass(decide: (shown: Record<string, unknown>) => unknown): Promise<AskedFor | undefined>;
}

/**
 * What every door promises: a call runs only after a clear permission, and with the arguments that were permitted.
 * Each case gives the door one verdict, in the words of Cobbler or of the Claude Agent SDK, or something else.
 */
export function gateContract(door: GateDoor): ContractCase[] {
  return [
    ...allowing.map(([what, verdict]) => ({
      group: 'allows',
      name: `${what} runs the call as it came [P21]`,
      run: async () => expectEqual(await door.pass(verdict), door.call, 'what ran'),
    })),
    ...changing.map(([what, verdict]) => ({
      group: 'changes',
      name: `${what} runs the call with these arguments, or not at all [P9, P21]`,
      run: async () => {
        const wanted = { ...door.call, command: 'changed' };
        const ran = await door.pass(() => verdict(wanted));
        expectEqual(ran, door.takesChanges ? wanted : undefined, 'what ran');
      },
    })),
    ...readOnce.map(([what, verdict]) => ({
      group: 'reads once',
      name: `${what} runs nothing but what was read first [P9, P21]`,
      run: async () => {
        const wanted = { ...door.call, command: 'changed' };
        const ran = await door.pass((shown) => verdict(wanted, shown));
        const isAsItCame = JSON.stringify(ran) === JSON.stringify(door.call);
        expectEqual(ran, isAsItCame ? door.call : door.takesChanges ? wanted : undefined, 'what ran');
      },
    })),
    ...refusing.map(([what, verdict]) => ({
      group: 'denies',
      name: `${what} denies [P21]`,
      run: async () => expectEqual(await door.pass(verdict), undefined, 'what ran'),
    })),
  ];
}
