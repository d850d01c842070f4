import { Process, Processor } from '@nestjs/bull';
import { EmailService } from './email.service.js';

@Processor('email')
export class EmailProcessor {
  constructor(private readonly emails: EmailService) {}

  @Process('drain')
  async drain(): Promise<void> {
    await this.emails.runOnce();
  }
}
