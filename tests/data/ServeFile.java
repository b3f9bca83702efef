// SPDX-License-Identifier: GPL-2.0
// Sends one file to whoever connects, by FileChannel.transferTo: ServeFile PORT FILE.
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

class ServeFile {
	public static void main(String[] words) throws IOException {
		var listener = ServerSocketChannel.open();
		listener.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), Integer.parseInt(words[0])));
		while (true) {
			try (SocketChannel client = listener.accept(); FileChannel file = FileChannel.open(Path.of(words[1]))) {
				for (long sent = 0; sent < file.size();)
					sent += file.transferTo(sent, file.size() - sent, client);
			}
		}
	}
}
