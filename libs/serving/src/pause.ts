/**
 * Pauses keep a client from taking up a core with requests that are only refused. Each is random: connections that were
 * refused together would otherwise return together and delay everybody else.
 */
export class Pauses {
  private underWay = 0;

  /**
   * @param shortest ms; a pause takes up to 1.8 times as long
   * @param each the shortest pause is at least this long for each one under way (ms), which limits the total per second
   */
  constructor(
    private readonly shortest: number,
    private readonly each: number,
  ) {}

  /** Calls back after a pause. The arguments are passed on, so that callers need no closure, which may hold a request. */
  schedule<Args extends unknown[]>(callback: (...args: Args) => void, ...args: Args): void {
    this.underWay++;
    const shortest = Math.max(this.shortest, this.underWay * this.each);
    const end = () => {
      this.underWay--;
      callback(...args);
    };
    setTimeout(end, shortest * (1 + 0.8 * Math.random()));
  }
}

/**
 * Between a refusal (429, 503) and the next request of its connection: a few dozen requests a second, each answered
 * within 50 ms, on up to 50 connections, and some 1,400 a second on any number of them.
 */
export const afterRefusal = new Pauses(25, 0.5);

/** Before a refusal that ends its connection, within 50 ms. A client opens the next one without a pause. */
export const beforeClosing = new Pauses(15, 0);

/** Before the response to input that is no valid request, which ends its connection: at most some 700 a second. */
export const afterNonsense = new Pauses(15, 1);

/** Whether a response is a refusal that a client may cause as often as it likes. */
export const isRefusal = (status: number) => status === 429 || status === 503;
