import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

/** A server with four threads, and a client with eight requests at a time. */
class Http {
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("serve")) {
            var server = HttpServer.create(new InetSocketAddress(8080), 0);
            server.createContext("/", exchange -> {
                exchange.sendResponseHeaders(200, 150_000);
                try (var out = exchange.getResponseBody()) {
                    out.write(new byte[150_000]);
                }
            });
            server.setExecutor(Executors.newFixedThreadPool(4));
            server.start();
            return;
        }
        var client = HttpClient.newHttpClient();
        var request = HttpRequest.newBuilder(URI.create("http://server:8080/")).build();
        var all = IntStream.range(0, 8)
            .mapToObj(i -> client.sendAsync(request, BodyHandlers.ofByteArray()))
            .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(all).join();
        System.exit(0);
    }
}
