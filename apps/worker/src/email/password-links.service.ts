import { Process, Processor } from '@nestjs/bull';
import { PasswordLinks } from '@app/people';

/** Looks up addresses for which people requested a link in the portal. */
@Processor('passwordLinks')
export class PasswordLinksService {
  constructor(private readonly links: PasswordLinks) {}

  @Process('resolve')
  runOnce(): Promise<void> {
    return this.links.resolve();
  }
}
