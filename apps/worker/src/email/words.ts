/** What one kind of mail says; the frame around it is the same for all. */
export interface Words {
  subject: string;
  /** Why the person gets this. */
  reason: string;
  /** On the link; some mails have none. */
  action: string;
  /** What happens to somebody who does nothing. */
  otherwise: string;
}
