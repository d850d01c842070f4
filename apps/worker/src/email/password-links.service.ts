import { Process, Processor } from '@nestjs/bull';
import { PasswordLinks } from '@app/accounts';

/** Looks up the addresses for which the portal was asked to mail a link. */
@Processor('passwordLinks')
export class PasswordLinksService {
  constructor(private readonly links: PasswordLinks) {}

  @Process('resolve')
  runOnce(): Promise<void> {
    return this.links.resolve();
  }
}
