/** Thrown inside a transaction to run it again, as after a serialization failure: others changed the rows it read. */
export class RetryTransaction extends Error {
  constructor() {
    super('The rows were changed by another transaction');
  }
}
