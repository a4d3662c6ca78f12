/** The input of one request by the price it has, in tokens. */
export interface Bill {
  readonly plain: number;
  readonly read: number;
  /** Written for the shorter of the service's lifetimes, or the only one. */
  readonly write: number;
  readonly writeLong: number;
}

/**
 * Prices in hundredths of that of plain input, so that sums are exact. The same for both services, except that
 * some models read for less and OpenAI has only one lifetime with a known price.
 */
const hundredths: Readonly<Record<keyof Bill, number>> = { plain: 100, read: 10, write: 125, writeLong: 200 };

const kinds = ['plain', 'read', 'write', 'writeLong'] as const;

export const noBill: Bill = { plain: 0, read: 0, write: 0, writeLong: 0 };

/** All tokens of a bill, whatever they cost. */
export function tokensOf(bill: Bill): number {
  return kinds.reduce((sum, kind) => sum + bill[kind], 0);
}

/** What a bill comes to, in hundredths of a plain token. */
export function costOf(bill: Bill): number {
  return kinds.reduce((sum, kind) => sum + bill[kind] * hundredths[kind], 0);
}

export function addBills(bills: readonly Bill[]): Bill {
  return bills.reduce(
    (sum, bill) => ({
      plain: sum.plain + bill.plain,
      read: sum.read + bill.read,
      write: sum.write + bill.write,
      writeLong: sum.writeLong + bill.writeLong,
    }),
    noBill,
  );
}

/** The bill as a share of what the same tokens cost without any cache. */
export function shareOf(bill: Bill): number {
  return costOf(bill) / (tokensOf(bill) * hundredths.plain);
}
