/** The input of one request by price category, in tokens. */
export interface Bill {
  readonly plain: number;
  readonly read: number;
  /** Tokens written for the shorter of the service's two lifetimes, or for its only one. */
  readonly write: number;
  readonly writeLong: number;
}

/**
 * Prices in hundredths of the plain input price, so that sums are exact. They are the same for both services, except
 * that some models have a lower read price and OpenAI has only one lifetime with a known price.
 */
const hundredths: Readonly<Record<keyof Bill, number>> = { plain: 100, read: 10, write: 125, writeLong: 200 };

const kinds = ['plain', 'read', 'write', 'writeLong'] as const;

export const noBill: Bill = { plain: 0, read: 0, write: 0, writeLong: 0 };

/** Returns all tokens of a bill, regardless of price. */
export function tokensOf(bill: Bill): number {
  return kinds.reduce((sum, kind) => sum + bill[kind], 0);
}

/** Returns the cost of a bill in hundredths of a plain token. */
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

/** Returns the cost of a bill as a share of the cost of the same tokens without a cache. */
export function shareOf(bill: Bill): number {
  return costOf(bill) / (tokensOf(bill) * hundredths.plain);
}
